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

/** Looking at a signal costs more than most of a read: one that takes no longer than this is told to whoever is there. */
const LOOK_AFTER_MS = 20;

/** Whether nobody waits any more for a read that began at `startedAtMs`, by `performance.now()`, and took its time. */
export function isLetGo({ context }: Call, startedAtMs: number): boolean {
  return performance.now() - startedAtMs > LOOK_AFTER_MS && context.signal.aborted;
}
