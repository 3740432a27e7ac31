/**
 * The levels of one operation at run time: which a binding has, which were
 * requested, how strong each is (C2).
 */
import { check, CorrectableError } from './errors.ts';
import { describeUnknownOption } from './unknown-option.ts';

/**
 * The levels of a binding, weakest first, and those requested of one operation.
 */
export interface LevelOrder {
  readonly all: readonly string[];
  /** The same array as `all` where all were requested. */
  readonly requested: readonly string[];
  /**
   * The rank of the strongest requested level: a view at this rank or above is
   * final.
   */
  readonly strongestRank: number;
}

/**
 * The ladder for levels declared by a binding or an executor, all of them
 * requested.
 */
export function createLevelOrder(levels: readonly string[]): LevelOrder {
  check(
    Array.isArray(levels) &&
      levels[0] &&
      levels.every(
        (level, at) =>
          level && typeof level === 'string' && levels.indexOf(level) === at,
      ),
    'levels',
    'give different names, weakest first',
  );
  const all = [...levels];
  return { all, requested: all, strongestRank: all.length - 1 };
}

/**
 * The ladder of the same binding for a request of `levels`, in whatever order
 * they are given.
 */
export function requestLevels(
  levelOrder: LevelOrder,
  levels: readonly string[],
): LevelOrder {
  check(
    Array.isArray(levels) && levels[0],
    'levels',
    'give a list, or none for all',
  );
  const strongestRank = Math.max(
    ...levels.map((level) => checkLevel(levelOrder, level, 'levels')),
  );
  return {
    ...levelOrder,
    requested: levelOrder.all.filter((level) => levels.includes(level)),
    strongestRank,
  };
}

/**
 * The rank of `level`. Throws `UNKNOWN_LEVEL` for one that the binding does not
 * have.
 */
export function checkLevel(
  levelOrder: LevelOrder,
  level: string,
  field: string,
): number {
  const rank = getRank(levelOrder, level);
  if (rank !== NO_RANK) return rank;
  const message = `${field}: ${describeUnknownOption(level, levelOrder.all, 'Level')}`;
  throw new CorrectableError('UNKNOWN_LEVEL', message, { field, level });
}

/** The rank of a name that the binding does not have: below all levels. */
export const NO_RANK = -1;

/**
 * How strong `level` is, from 0; `NO_RANK` for a name that the binding does not
 * have.
 */
export function getRank({ all }: LevelOrder, level: string): number {
  for (let rank = 0; rank < all.length; rank++)
    if (all[rank] === level) return rank;
  return NO_RANK;
}

export function areSameNames(
  a: readonly string[],
  b: readonly string[],
): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
