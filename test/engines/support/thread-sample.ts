/**
 * What the threads of a node do at one moment: Java writes it to its log when it is asked by a
 * signal.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import { signalDaemon, waitUntil } from '../../../engines/process.ts';
import type { Site } from '../../../engines/wan.ts';

/** The methods that a thread is in, innermost first, one a line. */
export interface ThreadSample {
  readonly name: string;
  readonly stack: string;
}

const WRITTEN_MS = 10_000;
/** Follows the threads. */
const END = 'JNI global refs';

export async function threadSample(cluster: Cluster, site: Site): Promise<ThreadSample[]> {
  const daemon = cluster.state.daemons[site];
  if (daemon === undefined) throw new RangeError(`no node runs at ${site}`);
  const log = join(cluster.state.folder, `${site}.log`);
  const from = statSync(log).size;
  const written = (): string => readFileSync(log).subarray(from).toString();
  signalDaemon(daemon, 'SIGQUIT');
  if (!(await waitUntil(() => written().includes(END), WRITTEN_MS)))
    throw new Error(`no threads in ${log}`);
  const threads = written().split(/\n\n+/);
  return threads.flatMap((text) => {
    const [, name, stack] = /^"([^"]+)"[^\n]*\n([^]*)/.exec(text) ?? [];
    return name === undefined || stack === undefined ? [] : [{ name, stack }];
  });
}
