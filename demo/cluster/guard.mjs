/**
 * Ends the processes that a demo has started, however the demo itself ends: `node guard.mjs
 * [DIRECTORY]`. It reads lines from the demo, `+ PID` for a process that was started and `- PID`
 * for one that has ended. When its input closes, it kills the others and removes the directory.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const RETRIES = 10;
const pids = new Set();

for await (const line of createInterface({ input: process.stdin })) {
  const [change, pid] = line.split(' ');
  if (change === '+') pids.add(Number(pid));
  else pids.delete(Number(pid));
}
for (const pid of pids) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}
const [, , directory] = process.argv;
if (directory !== undefined)
  rmSync(directory, { recursive: true, force: true, maxRetries: RETRIES });
