/** What the execution of one operation is given. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import type { ReadSession } from './session.ts';

export const LEVELS = ['weak', 'strong'] as const;
export type ZooKeeperLevels = typeof LEVELS;
export type Level = ZooKeeperLevels[number];

export interface Call {
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly session: ReadSession | undefined;
  readonly context: InvocationContext;
}

export function wants({ levels }: Call, level: Level): boolean {
  return levels.includes(level);
}
