/**
 * Processor time of any process, by the same instrument for all: Linux's own account of each
 * thread.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds so far, of all threads that live; null if the system does not report it. */
export function processorTimeUs(pid: number): number | null {
  try {
    const tasks = `/proc/${pid}/task`;
    const ns = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]),
    );
    return ns.reduce((sum, item) => sum + item, 0) / 1000;
  } catch {
    return null;
  }
}
