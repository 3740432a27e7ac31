/**
 * Keeps a second process out of a data directory. A killed process leaves its lock behind, so a
 * lock names its owner: on another machine, it counts as left behind when its time has not moved
 * for a while, by the own clock alone.
 *
 * Another process may break the lock of a paused one. So the owner checks at each touch, and after
 * every gap, that the lock is still its own. It keeps the file open: until then no other file has
 * the same number.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { hostname } from 'node:os';
import { CorrectableError } from '../../../../correctable/errors.ts';
import { linkDraft, move } from './network-volume.ts';
import { isNoSpace, markFenced, type Files, type SyncedFile } from './files.ts';

interface LockHolder {
  readonly pid: number;
  /**
   * When the process started, as the system counts. Its number may belong to another process by
   * now.
   */
  readonly startedAt: string;
  /** Where process numbers are unique: one start of one machine, or one container on it. */
  readonly machineId: string;
  /** Distinguishes locks of one process. */
  readonly id?: string;
}

/** The clocks of this machine, and how to wait. */
export interface LockClock {
  /** A clock that is never set. It may stand still while the machine sleeps. */
  monotonicMs(): number;
  /** A clock that may be set. It goes on while the machine sleeps. */
  wallMs(): number;
  /** Blocks the whole process. */
  sleepMs(ms: number): void;
}

const TOUCH_INTERVAL_MS = 2000;
/** A lock from another machine counts as left behind if its time has not changed for this long. */
const STALE_AFTER_MS = 15_000;
/** If more time than this has passed, the owner checks the lock before anything else. */
const RECHECK_GAP_MS = 4000;
/** An owner that cannot check its lock stops before others may break it. */
const MAX_BLIND_MS = 10_000;
const POLL_INTERVAL_MS = 250;
/** A lock without an owner's name for this long was left by a process that was killed just then. */
const UNNAMED_LOCK_MS = 2000;
const MAX_ATTEMPTS = 5;

const systemClock: LockClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleepMs: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/**
 * Takes the lock. If it is held on another machine, calls `onWait` and blocks up to 15 s. Throws
 * `UNAVAILABLE` if it is held.
 */
export function lockDirectory(
  path: string,
  clock: LockClock = systemClock,
  onWait: (message: string) => void = () => {},
): DirectoryLock {
  const own: LockHolder = {
    pid: process.pid,
    startedAt: getStartTime(process.pid),
    machineId: getMachineId(),
    id: randomUUID(),
  };
  for (let attempt = 0; ; attempt += 1) {
    const descriptor = tryCreate(path, JSON.stringify(own));
    if (descriptor !== undefined) return new DirectoryLock(path, descriptor, clock);
    if (attempt >= MAX_ATTEMPTS)
      throw directoryInUseError(path, 'another process is starting in it');
    removeStale(path, clock, onWait);
  }
}

/** Reports whether this process still owns a directory. */
export interface Ownership {
  isHeld(): boolean;
  onLost(notify: (error: CorrectableError) => void): void;
}

export class DirectoryLock implements Ownership {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #clock: LockClock;
  readonly #file: fs.BigIntStats;
  readonly #listeners: ((error: CorrectableError) => void)[] = [];
  readonly #toucher: NodeJS.Timeout;
  #seenAtMs: number;
  #seenAtWallMs: number;
  #isLost = false;
  #isReleased = false;

  constructor(path: string, descriptor: number, clock: LockClock) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#clock = clock;
    this.#file = fs.fstatSync(descriptor, { bigint: true });
    this.#seenAtMs = clock.monotonicMs();
    this.#seenAtWallMs = clock.wallMs();
    this.#toucher = setInterval(() => this.#touch(), TOUCH_INTERVAL_MS);
    this.#toucher.unref();
  }

  /**
   * Whether this process still has the lock. It reads the file only after some time, so it may be
   * called often.
   */
  isHeld(): boolean {
    // A released lock may belong to another process before the next check would notice.
    if (this.#isLost || this.#isReleased) return false;
    const gapMs = this.#clock.monotonicMs() - this.#seenAtMs;
    const wallGapMs = Math.abs(this.#clock.wallMs() - this.#seenAtWallMs);
    return Math.max(gapMs, wallGapMs) <= RECHECK_GAP_MS || this.#touch();
  }

  /** Calls back once if the lock turns out to be lost. */
  onLost(notify: (error: CorrectableError) => void): void {
    this.#listeners.push(notify);
  }

  /** Releases the lock. A lock of another process in its place stays. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#toucher);
    try {
      if (this.#isOwnThere()) fs.rmSync(this.#path, { force: true });
    } finally {
      fs.closeSync(this.#descriptor);
    }
  }

  /**
   * Checks and touches the lock. It touches the open file, never one that another process has put
   * in its place.
   */
  #touch(): boolean {
    // Read the clock before the check: a pause may fall between both.
    const atMs = this.#clock.monotonicMs();
    const atWallMs = this.#clock.wallMs();
    const isThere = this.#touchIfThere();
    if (isThere === true) this.#seenAtMs = atMs;
    if (isThere === false || atMs - this.#seenAtMs > MAX_BLIND_MS) {
      this.#lose();
      return false;
    }
    this.#seenAtWallMs = atWallMs;
    return true;
  }

  /** Returns whether the lock was this process's; `undefined` if that cannot be determined. */
  #touchIfThere(): boolean | undefined {
    try {
      if (!this.#isOwnThere()) return false;
      fs.futimesSync(this.#descriptor, new Date(), new Date());
      return true;
    } catch {
      return undefined;
    }
  }

  #isOwnThere(): boolean {
    return isFileAt(this.#path, this.#file);
  }

  #lose(): void {
    this.#isLost = true;
    clearInterval(this.#toucher);
    for (const notify of this.#listeners.splice(0)) notify(lockLostError());
  }
}

/** Creates the error of a process that uses a directory which it has lost. */
export function lockLostError(): CorrectableError {
  const reason = 'this process was paused for so long that another process has taken it over';
  const message = `The data directory is no longer this process's: ${reason}.`;
  return markFenced(
    new CorrectableError('UNAVAILABLE', message, {
      retryable: false,
      field: 'dataDir',
    }),
  );
}

/**
 * Wraps the files of a directory. Once another process has taken it over, nothing is created or
 * removed, or counts as written.
 */
export function fenceFiles(files: Files, lock: { isHeld(): boolean }): Files {
  const check = (): void => {
    if (!lock.isHeld()) throw lockLostError();
  };
  const guard = (file: SyncedFile): SyncedFile => ({
    write: (bytes, position, done, mayBlock) => {
      if (!lock.isHeld()) return done(lockLostError());
      const ended = (error: Error | undefined): void =>
        done(error ?? (lock.isHeld() ? undefined : lockLostError()));
      return file.write(bytes, position, ended, mayBlock);
    },
    close: () => file.close(),
  });
  return {
    list: (folder) => files.list(folder),
    read: (path) => files.read(path),
    readPart: (path, position, length) => files.readPart(path, position, length),
    makeDirectory: (path) => files.makeDirectory(path),
    createNow: (path, sizeBytes) => {
      check();
      return guard(files.createNow(path, sizeBytes));
    },
    create: (path, sizeBytes, done) => {
      if (!lock.isHeld()) return done(lockLostError());
      return files.create(path, sizeBytes, (error, file) => done(error, file && guard(file)));
    },
    replace: (path, bytes) => {
      check();
      files.replace(path, bytes);
    },
    moveDirectory: (from, to) => {
      check();
      files.moveDirectory(from, to);
    },
    remove: (path) => {
      if (lock.isHeld()) files.remove(path);
    },
    removeNow: (path) => {
      if (lock.isHeld()) files.removeNow(path);
    },
  };
}

/** Returns a descriptor of the new lock; `undefined` if there is a lock. */
function tryCreate(path: string, text: string): number | undefined {
  // Written first and linked then, so that no process sees a lock without its owner's name.
  const draft = `${path}.${randomUUID()}`;
  const descriptor = fs.openSync(draft, 'wx', 0o600);
  try {
    fs.writeSync(descriptor, text);
    linkDraft(draft, path);
    return descriptor;
  } catch (error) {
    fs.closeSync(descriptor);
    if (getErrorCode(error) === 'EEXIST') return undefined;
    if (isNoLink(error)) return tryCreateInPlace(path, text);
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/**
 * The same on a volume without hard links, such as SMB. For a moment the lock lacks its owner's
 * name: see `UNNAMED_LOCK_MS`.
 */
function tryCreateInPlace(path: string, text: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, 'wx', 0o600);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  try {
    fs.writeSync(descriptor, text);
  } catch (error) {
    fs.closeSync(descriptor);
    fs.rmSync(path, { force: true });
    throw error;
  }
  // A process that was paused before it wrote its name may have lost the lock to another one.
  if (isFileAt(path, fs.fstatSync(descriptor, { bigint: true }))) return descriptor;
  fs.closeSync(descriptor);
  return undefined;
}

function isFileAt(path: string, file: fs.BigIntStats): boolean {
  const found = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.ino === file.ino && found.dev === file.dev;
}

/** Whether the volume lacks hard links. File systems report that by different codes. */
function isNoLink(error: unknown): boolean {
  const isOfLink = (error as NodeJS.ErrnoException).syscall === 'link';
  return isOfLink && !isNoSpace(error as Error);
}

function removeStale(path: string, clock: LockClock, onWait: (message: string) => void): void {
  const found = readNamedLock(path, clock);
  if (found === undefined) return;
  const problem = describeLockProblem(path, found, clock, onWait);
  if (problem !== undefined) throw directoryInUseError(path, problem);
  // Check again, since it may have taken long to find out.
  if (readLock(path)?.text !== found.text) return;
  const aside = `${path}.stale.${randomUUID()}`;
  try {
    move(path, aside);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  // Another process was faster, and this is its lock. Restore it, unless a third process has one by
  // now. Then the owner notices that its lock is gone.
  if (fs.readFileSync(aside, 'utf8') !== found.text) tryLink(aside, path);
  fs.rmSync(aside, { force: true });
}

function tryLink(from: string, to: string): void {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return;
    if (!isNoLink(error)) throw error;
    // A copy keeps others out as well. The owner notices that it is not its file, and stops.
    tryCopy(from, to);
  }
}

function tryCopy(from: string, to: string): void {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL);
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}

interface FoundLock {
  readonly text: string;
  /** Changes whenever the owner touches the lock, independent of the owner's clock. */
  readonly time: string;
}

function readLock(path: string): FoundLock | undefined {
  try {
    const { mtimeNs, ctimeNs } = fs.statSync(path, { bigint: true });
    return {
      text: fs.readFileSync(path, 'utf8'),
      time: `${mtimeNs} ${ctimeNs}`,
    };
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Waits a moment for the owner's name: without hard links it is written after the lock is created.
 */
function readNamedLock(path: string, clock: LockClock): FoundLock | undefined {
  const untilMs = clock.monotonicMs() + UNNAMED_LOCK_MS;
  let found = readLock(path);
  while (found !== undefined && found.text === '' && clock.monotonicMs() < untilMs) {
    clock.sleepMs(POLL_INTERVAL_MS);
    found = readLock(path);
  }
  return found;
}

/** Returns why a lock must be respected; `undefined` if it was left behind. */
function describeLockProblem(
  path: string,
  found: FoundLock,
  clock: LockClock,
  onWait: (message: string) => void,
): string | undefined {
  const holder = parseHolder(found.text);
  if (holder === undefined) return undefined;
  if (holder.machineId === getMachineId()) {
    const isAlive = processExists(holder.pid) && getStartTime(holder.pid) === holder.startedAt;
    return isAlive ? `process ${holder.pid} has it open` : undefined;
  }
  onWait(
    `The data directory was locked by process ${holder.pid} of another machine or container (${path}). ` +
      `Waiting up to ${STALE_AFTER_MS / 1000} s to see if it still runs.`,
  );
  if (!isTouchedWithinStaleTime(path, found, clock)) return undefined;
  return `process ${holder.pid} of another machine or container has it open`;
}

/** Returns the owner that the lock names; `undefined` if it names none. */
function parseHolder(text: string): LockHolder | undefined {
  try {
    return (JSON.parse(text) as LockHolder | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Watches a lock. Returns whether its owner touches it before it counts as left behind. */
function isTouchedWithinStaleTime(path: string, found: FoundLock, clock: LockClock): boolean {
  const fromMs = clock.monotonicMs();
  while (clock.monotonicMs() - fromMs < STALE_AFTER_MS) {
    clock.sleepMs(POLL_INTERVAL_MS);
    const now = readLock(path);
    // It was released or replaced: the caller begins again.
    if (now === undefined || now.text !== found.text) return false;
    if (now.time !== found.time) return true;
  }
  return false;
}

function getErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function directoryInUseError(path: string, problem: string): CorrectableError {
  return new CorrectableError(
    'UNAVAILABLE',
    `The data directory is in use (${path}): ${problem}.`,
    {
      field: 'dataDir',
    },
  );
}

/** States of ended processes that their parent has not reaped yet. They hold nothing. */
const ENDED_STATES = ['Z', 'X'];

export function processExists(pid: number): boolean {
  if (ENDED_STATES.includes(readProcessStat(pid)[0] ?? '')) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return getErrorCode(error) === 'EPERM';
  }
}

/**
 * Returns the start time from the system's table of processes; an empty string if it cannot be
 * read.
 */
export function getStartTime(pid: number): string {
  return readProcessStat(pid)[19] ?? '';
}

/** Returns the entries of the process table after the name, beginning with the state. */
function readProcessStat(pid: number): string[] {
  const stat = readSystem(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Identifies one start of one machine, or one container on it. */
export function getMachineId(): string {
  const boot = readSystem(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  return boot === ''
    ? hostname()
    : `${boot} ${readSystem(() => fs.readlinkSync('/proc/self/ns/pid'))}`;
}

/** Returns a value of the system, or an empty string if it cannot be read. */
function readSystem(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
