/**
 * One Cassandra cluster for all the test files of a run: the first file that needs it starts it (`withCassandra`), the end
 * of the run stops it. What a run left behind that was killed is stopped by the next.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { Cluster, type ClusterState } from '../../../engines/cassandra/cluster.ts';
import { forgetState, readState, runFolder } from '../../../engines/folders.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The name under which this run keeps the state of its cluster. */
    readonly cassandraRun: string;
  }
}

const RUN = /^tests-(\d+)(-\d+)?$/;

export async function setup({ provide }: TestProject): Promise<void> {
  for (const name of readdirSync(runFolder('cassandra'))) {
    const pid = Number(RUN.exec(name)?.[1] ?? process.pid);
    if (isAlive(pid)) continue;
    await stop(`cassandra/${name}`);
    rmSync(join(runFolder('cassandra'), name), { recursive: true, force: true });
  }
  provide('cassandraRun', `cassandra/tests-${process.pid}`);
}

/** Logs stay until the next run, for whoever asks why a test failed. */
export async function teardown(): Promise<void> {
  await stop(`cassandra/tests-${process.pid}`);
}

async function stop(run: string): Promise<void> {
  const state = readState<ClusterState>(run);
  if (state === undefined) return;
  const cluster = new Cluster(state);
  await cluster.stop();
  for (const site of cluster.sites) rmSync(join(state.folder, site), { recursive: true, force: true });
  forgetState(run);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
