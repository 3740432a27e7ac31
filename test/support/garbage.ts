/** Garbage collection on demand. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects all unreachable objects. An object that a weak reference was made of, or returned, stays
 * until the end of its task.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}
