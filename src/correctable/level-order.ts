/**
 * The levels of one operation at run time: those of the binding, those that were requested, and
 * their order (COR-2).
 */
import { check, CorrectableError } from './errors.ts';
import { describeUnknownOption } from './unknown-option.ts';

/** The levels of a binding, weakest first, and those requested of one operation. */
export interface LevelOrder {
  readonly all: readonly string[];
  /** The same array as `all` if all were requested. */
  readonly requested: readonly string[];
  /** The rank of the strongest requested level: a view at this rank or above is final. */
  readonly strongestRank: number;
}

/** Creates the order of the levels of a binding or an executor, with all of them requested. */
export function createLevelOrder(levels: readonly string[]): LevelOrder {
  check(
    Array.isArray(levels) &&
      levels[0] &&
      levels.every(
        (level, at) => level && typeof level === 'string' && levels.indexOf(level) === at,
      ),
    'levels',
    'give different names, weakest first',
  );
  const all = [...levels];
  return { all, requested: all, strongestRank: all.length - 1 };
}

/**
 * Creates the order of the same binding for a request of `levels`. The request may list them in any
 * order.
 */
export function requestLevels(levelOrder: LevelOrder, levels: readonly string[]): LevelOrder {
  check(Array.isArray(levels) && levels[0], 'levels', 'give a list, or none for all');
  const strongestRank = Math.max(...levels.map((level) => checkLevel(levelOrder, level, 'levels')));
  return {
    ...levelOrder,
    requested: levelOrder.all.filter((level) => levels.includes(level)),
    strongestRank,
  };
}

/** Returns the rank of `level`. Throws `UNKNOWN_LEVEL` if the binding does not have it. */
export function checkLevel(levelOrder: LevelOrder, level: string, field: string): number {
  const rank = getRank(levelOrder, level);
  if (rank !== NO_RANK) return rank;
  const message = `${field}: ${describeUnknownOption(level, levelOrder.all, 'Level')}`;
  throw new CorrectableError('UNKNOWN_LEVEL', message, { field, level });
}

/** The rank of a name that the binding does not have. It is below all levels. */
export const NO_RANK = -1;

/**
 * Returns the rank of `level`, counted from 0 for the weakest. Returns `NO_RANK` for a name that
 * the binding does not have.
 */
export function getRank({ all }: LevelOrder, level: string): number {
  for (let rank = 0; rank < all.length; rank++) if (all[rank] === level) return rank;
  return NO_RANK;
}

export function areSameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
