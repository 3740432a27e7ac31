/**
 * Keeps a second process out of a data folder. A process that was killed leaves its lock behind, so a lock says whose it
 * is: on this machine that is looked up, elsewhere (another machine, another container) its age tells, for the owner
 * touches it all the time.
 */
import fs from 'node:fs';
import { hostname } from 'node:os';
import { CorrectableError } from '../../correctable/errors.ts';

interface Holder {
  readonly pid: number;
  /** When the process started, as the system counts: the number may be another process's by now. */
  readonly startedAt: string;
  /** Where the number means something: one start of one machine, or one container on it. */
  readonly place: string;
}

const TOUCH_EVERY_MS = 2000;
/** A lock from elsewhere that was not touched for so long is left behind. */
const STALE_AFTER_MS = 15_000;
const ATTEMPTS_MAX = 5;

/**
 * Takes the lock of a folder and returns how to give it back.
 *
 * @throws CorrectableError `UNAVAILABLE` when another process, or this one, has it.
 */
export function lockFolder(path: string): () => void {
  const own: Holder = { pid: process.pid, startedAt: startOf(process.pid), place: place() };
  for (let attempt = 0; !tryCreate(path, JSON.stringify(own)); attempt += 1) {
    if (attempt >= ATTEMPTS_MAX) throw inUse(path, 'another process is starting in it');
    breakStale(path);
  }
  const touch = setInterval(() => fs.utimes(path, new Date(), new Date(), () => {}), TOUCH_EVERY_MS);
  touch.unref();
  return () => {
    clearInterval(touch);
    fs.rmSync(path, { force: true });
  };
}

function tryCreate(path: string, text: string): boolean {
  // Written first and linked then: nobody sees a lock without its owner's name.
  const draft = `${path}.${process.pid}`;
  fs.writeFileSync(draft, text);
  try {
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function breakStale(path: string): void {
  const found = readLock(path);
  if (found === undefined) return;
  const problem = problemWith(found);
  if (problem !== undefined) throw inUse(path, problem);
  const aside = `${path}.stale.${process.pid}`;
  try {
    fs.renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const taken = fs.readFileSync(aside, 'utf8');
  // Another process was faster, and this is its lock: give it back.
  if (taken !== found.text) fs.renameSync(aside, path);
  else fs.rmSync(aside);
}

interface FoundLock {
  readonly text: string;
  readonly ageMs: number;
}

function readLock(path: string): FoundLock | undefined {
  try {
    return { text: fs.readFileSync(path, 'utf8'), ageMs: Date.now() - fs.statSync(path).mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Why a lock must be respected; `undefined` when it was left behind. */
function problemWith({ text, ageMs }: FoundLock): string | undefined {
  let holder: Holder;
  try {
    holder = JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
  if (holder.place === place()) {
    const isAlive = exists(holder.pid) && startOf(holder.pid) === holder.startedAt;
    return isAlive ? `process ${holder.pid} has it open` : undefined;
  }
  if (ageMs > STALE_AFTER_MS) return undefined;
  const seconds = Math.ceil(STALE_AFTER_MS / 1000);
  return `process ${holder.pid} of another machine or container had it open ${Math.round(ageMs / 1000)} s ago; if that has ended, try again in ${seconds} s`;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** From the system's table of processes; empty where there is none to read. */
function startOf(pid: number): string {
  const stat = readSystem(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function place(): string {
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

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function inUse(path: string, problem: string): CorrectableError {
  return new CorrectableError('UNAVAILABLE', `The data folder is in use (${path}): ${problem}.`, { field: 'dataDir' });
}
