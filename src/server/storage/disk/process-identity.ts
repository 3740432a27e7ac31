/** What the system says about processes: which are there, since when, and where their numbers mean something. */
import fs from 'node:fs';
import { hostname } from 'node:os';

/** States of processes that have ended, and which their parent has not reaped yet: they hold nothing any more. */
const ENDED_STATES = ['Z', 'X'];

export function processExists(pid: number): boolean {
  if (ENDED_STATES.includes(readProcessStat(pid)[0] ?? '')) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** From the system's table of processes; empty where there is none to read. */
export function getStartTime(pid: number): string {
  return readProcessStat(pid)[19] ?? '';
}

/** What the table says of a process behind its name: the state, and what follows it. */
function readProcessStat(pid: number): string[] {
  const stat = readSystemFile(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** One start of one machine, or one container on it. */
export function getMachineId(): string {
  const boot = readSystemFile('/proc/sys/kernel/random/boot_id').trim();
  return boot === '' ? hostname() : `${boot} ${readSystemLink('/proc/self/ns/pid')}`;
}

function readSystemFile(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readSystemLink(path: string): string {
  try {
    return fs.readlinkSync(path);
  } catch {
    return '';
  }
}
