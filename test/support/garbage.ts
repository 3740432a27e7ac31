/** Garbage that is collected when a test says so. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Lets all go that nobody holds: what a weak reference was made of or asked for only after the task that did so. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}
