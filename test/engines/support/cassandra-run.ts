/**
 * One Cassandra cluster for all the test files of a run: the first file that needs it starts it
 * (`withCassandra`), the end of the run stops it. What a run left behind that was killed is stopped
 * by the next.
 */
import type { TestProject } from 'vitest/node';
import { stopLeftovers, stopRun } from '../../../engines/cassandra/leftovers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The name under which this run keeps the state of its cluster. */
    readonly cassandraRun: string;
  }
}

export async function setup({ provide }: TestProject): Promise<void> {
  await stopLeftovers();
  provide('cassandraRun', `cassandra/tests-${process.pid}`);
}

/** Logs stay until the next run, so that a failed test can be explained. */
export async function teardown(): Promise<void> {
  await stopRun(`cassandra/tests-${process.pid}`);
}
