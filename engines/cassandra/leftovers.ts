/**
 * Clusters of programs that were killed before they could stop them: found by the number of the
 * program.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { forgetState, readState, runFolder } from '../folders.ts';
import { Cluster, type ClusterState } from './cluster.ts';

const PRIVATE = /^(?:program|tests)-(\d+)/;

/** Where a cluster for this program alone is written down; `name` keeps several apart. */
export function privateRun(name: string): string {
  return `cassandra/program-${process.pid}-${name}`;
}

/**
 * Stops what programs that are gone have left, and removes their data and logs. Returns whether any
 * of it ran.
 */
export async function stopLeftovers(): Promise<boolean> {
  let hasStopped = false;
  for (const name of readdirSync(runFolder('cassandra'))) {
    const pid = PRIVATE.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    hasStopped = (await stopRun(`cassandra/${name}`)) || hasStopped;
    rmSync(join(runFolder('cassandra'), name), { recursive: true, force: true });
  }
  return hasStopped;
}

/**
 * Stops the cluster that is written down there, and removes its data, not its logs. Returns whether
 * there was one.
 */
export async function stopRun(run: string): Promise<boolean> {
  const state = readState<ClusterState>(run);
  if (state === undefined) return false;
  const cluster = new Cluster(state);
  await cluster.stop();
  for (const site of cluster.sites)
    rmSync(join(state.folder, site), { recursive: true, force: true });
  forgetState(run);
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
