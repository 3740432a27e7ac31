/**
 * Faults of data directories. Each has to be noticed; a directory that is lost, or too old, is then
 * rebuilt.
 */
import { cp, rename, rm } from 'node:fs/promises';
import type { ServerProcess } from '../server-process.ts';
import type { Disturbance } from './disturb.ts';

/** A node that must not run has to end by then. */
const NOTICE_MS = 30_000;
const REBUILD = '--rebuild';
/**
 * A directory that lacks a blue update that others have is too old. Red ones come again from the
 * red log.
 */
const BLUE_UPDATES = new Set(['deposit', 'write']);

/** Two processes on one directory: the second one has to be refused. */
export async function secondProcess({
  deployment,
  fault: { site },
  recorder,
}: Disturbance): Promise<void> {
  const second = await deployment.createSecondProcess(site, deployment.directoryOf(site));
  const { isListening } = await second.start();
  if (isListening)
    recorder.add({ kind: 'missed', text: `two processes ran on the directory of ${site}` });
  await second.kill();
}

/** Two processes on copies of one directory: one of them has to end. */
export async function copiedDirectory(disturbance: Disturbance): Promise<void> {
  const { deployment, process, fault, recorder } = disturbance;
  const { site } = fault;
  const copy = `${deployment.directoryOf(site)}.second`;
  await process.end();
  await cp(deployment.directoryOf(site), copy, { recursive: true });
  await process.begin();
  const second = await deployment.createSecondProcess(site, copy);
  const sinceMs = getUnsentSinceMs(disturbance);
  const { isListening } = await second.start();
  if (isListening) {
    const ended = await Promise.any([mustStop(second), mustStop(process)])
      .then(() => true)
      .catch(() => false);
    if (!ended)
      recorder.add({
        kind: 'missed',
        text: `two processes ran on copies of the directory of ${site}`,
      });
  }
  await second.kill();
  // The one that stopped may have acknowledged what the others refuse. --rebuild moves no such
  // directory away by itself.
  if (!process.isServing) {
    await process.kill();
    await rm(deployment.directoryOf(site), { recursive: true });
    await rebuild(disturbance, sinceMs);
  }
  await rm(copy, { recursive: true, force: true });
}

async function mustStop(process: ServerProcess): Promise<void> {
  if (!(await process.stopsItself(NOTICE_MS))) throw new Error('it runs on');
}

/** An older copy of the directory: a node that starts on it has to end. */
export async function oldCopy(disturbance: Disturbance): Promise<void> {
  const { deployment, process, fault, recorder, users, wait } = disturbance;
  const directory = deployment.directoryOf(fault.site);
  const copy = `${directory}.old`;
  await process.end();
  await cp(directory, copy, { recursive: true });
  await process.begin();
  const copiedAtMs = performance.now();
  const nearby = users.filter(({ home }) => home === fault.site);
  for (const user of nearby) user.confineTo(fault.site);
  await wait();
  for (const user of nearby) user.heal();
  const sinceMs = getUnsentSinceMs(disturbance);
  const isOlder = recorder.hasAcknowledged(BLUE_UPDATES, fault.site, copiedAtMs, sinceMs);
  await process.kill();
  let untilMs = performance.now();
  await rm(directory, { recursive: true });
  await rename(copy, directory);
  const { isListening } = await process.start();
  if (isOlder && isListening && !(await process.stopsItself(NOTICE_MS))) {
    recorder.add({ kind: 'missed', text: `${fault.site} ran on an older copy of its directory` });
  }
  // A directory that was not found to be too old would be used as it is.
  if (process.isServing) {
    await process.kill();
    untilMs = performance.now();
    await rm(directory, { recursive: true });
  }
  await rebuild(disturbance, sinceMs, untilMs);
}

/** The directory is gone: a start without it has to be refused. */
export async function lostDirectory(disturbance: Disturbance): Promise<void> {
  const { deployment, process, fault, recorder, wait } = disturbance;
  const sinceMs = getUnsentSinceMs(disturbance);
  await process.kill();
  const untilMs = performance.now();
  await wait();
  await rm(deployment.directoryOf(fault.site), { recursive: true });
  const { isListening } = await process.start();
  if (isListening && !(await process.stopsItself(NOTICE_MS))) {
    recorder.add({ kind: 'missed', text: `${fault.site} ran without its directory` });
  }
  await rebuild(disturbance, sinceMs, untilMs);
}

/**
 * Follows the documented steps of an operator. What the site acknowledged between these times may
 * be lost.
 */
async function rebuild(
  disturbance: Disturbance,
  sinceMs: number,
  untilMs = performance.now(),
): Promise<void> {
  const { process, fault, recorder } = disturbance;
  await process.kill();
  recorder.add({ kind: 'lost', site: fault.site, sinceMs, untilMs });
  await process.begin(REBUILD);
}

function getUnsentSinceMs({ deployment, fault: { site } }: Disturbance): number {
  return deployment.links?.getUnsentSinceMs(site) ?? performance.now();
}
