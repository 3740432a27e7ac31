/** What the system says about processes: which are there, since when, and where their numbers mean something. */
import fs from 'node:fs';
import { hostname } from 'node:os';

export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** From the system's table of processes; empty where there is none to read. */
export function startOf(pid: number): string {
  const stat = readSystem(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** One start of one machine, or one container on it. */
export function place(): string {
  const boot = readSystem('/proc/sys/kernel/random/boot_id').trim();
  return boot === '' ? hostname() : `${boot} ${readSystemLink('/proc/self/ns/pid')}`;
}

function readSystem(path: string): string {
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
