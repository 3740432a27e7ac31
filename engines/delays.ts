/**
 * The process that keeps the delayed routes of an engine open, so that they outlive the launcher.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Route } from './delay-proxy.ts';
import { isRunning, startDaemon, waitUntil, type Daemon } from './process.ts';

const OPEN_MS = 60_000;

/** Starts it, and waits until all routes are open. Its log is in the folder. */
export async function startDelays(folder: string, routes: readonly Route[]): Promise<Daemon> {
  const file = join(folder, 'routes.json');
  writeFileSync(file, JSON.stringify(routes));
  const script = fileURLToPath(new URL('delay-proxy-process.ts', import.meta.url));
  const logFile = join(folder, 'delays.log');
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const args = ['--import', 'tsx', script, file];
  const daemon = startDaemon({ command: process.execPath, args, mark: file, logFile, cwd });
  const isOpen = (): boolean => {
    if (!isRunning(daemon)) throw new Error(`the process with the delays ended; see ${logFile}`);
    return readFileSync(logFile, 'utf8').includes('routes are open');
  };
  if (!(await waitUntil(isOpen, OPEN_MS)))
    throw new Error(`the delays do not start; see ${logFile}`);
  return daemon;
}
