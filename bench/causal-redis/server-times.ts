/**
 * Measures how long a server executes calls, by its slow log. These are the times that `INFO
 * commandstats` adds up, but for each call and each script alone, so that polls and pauses of a
 * busy machine do not hide in a mean.
 */
import type { Redis } from 'ioredis';

export interface ServerCall {
  readonly us: number;
  /** The command and its arguments, as the slow log has them: long ones are cut. */
  readonly args: readonly string[];
}

type LogItem = readonly [id: number, at: number, us: number, args: readonly string[]];

const MAX_CALLS = 50_000;

/** Makes the server log all calls. */
export async function logAllCalls(redis: Redis): Promise<void> {
  await redis.config('SET', 'slowlog-max-len', MAX_CALLS);
  await redis.config('SET', 'slowlog-log-slower-than', 0);
}

/** Returns the calls that the server has executed while `run` was running. */
export async function recordCalls(
  redis: Redis,
  run: () => Promise<void>,
): Promise<readonly ServerCall[]> {
  await redis.slowlog('RESET');
  await run();
  const items = (await redis.slowlog('GET', MAX_CALLS)) as LogItem[];
  return items.map(([, , us, args]) => ({ us, args }));
}

/** Returns whether a call is of this operation. A call of a script is known by its arguments. */
export function isCallOf(operation: string, keyCount: number, { args }: ServerCall): boolean {
  const [command = '', , , , , ...others] = args;
  if (command.toLowerCase() !== 'evalsha') return command.toLowerCase() === operation;
  const isPut = others.length === 3 && others[1]?.startsWith('i:') === true;
  if (operation === 'put') return isPut;
  return (
    operation === 'read' &&
    !isPut &&
    others.length === keyCount &&
    others.every((name) => name.startsWith('v:'))
  );
}
