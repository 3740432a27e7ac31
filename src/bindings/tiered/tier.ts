/**
 * A tier: the function that answers operations at one consistency level (Correctables, OSDI 2016,
 * Listing 7).
 */
import type { Operation } from '../../correctable/operation.ts';
import type { LevelContext } from '../shared/level-call.ts';

export type { LevelContext as TierContext } from '../shared/level-call.ts';

/**
 * Answers one operation at one level: returns the value, `withDetails(value, { version, meta })`,
 * `skipLevel`, or a promise of one of them. If it throws, its level fails with that error.
 */
export type Tier = (operation: Operation, context: LevelContext) => unknown;
