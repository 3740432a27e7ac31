/**
 * Processes that outlive the launcher: started with a log file, known by pid and by a word in their
 * command line.
 */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that was started. */
export interface Daemon {
  readonly pid: number;
  /**
   * A part of its command line that no other process has, so that a pid used again is never taken
   * for it.
   */
  readonly mark: string;
}

export interface DaemonOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly mark: string;
  readonly logFile: string;
  readonly cwd: string;
  /** Variables beside those of this process. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** The user to run it as. Default: that of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

const POLL_MS = 25;
const STOP_MS = 5_000;

/**
 * Starts a process of its own session, which stays when this one ends. Its output goes to the log
 * file.
 */
export function startDaemon({
  command,
  args,
  mark,
  logFile,
  cwd,
  env,
  user,
}: DaemonOptions): Daemon {
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, {
    cwd,
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
    ...user,
  });
  closeSync(log);
  child.on('error', () => {}); // Seen as a process that is not there.
  child.unref();
  if (child.pid === undefined) throw new Error(`could not start ${command}; is it installed?`);
  return { pid: child.pid, mark };
}

export function isRunning({ pid, mark }: Daemon): boolean {
  const { state, command } = look(pid);
  return !state.startsWith('Z') && command.includes(mark);
}

/**
 * Whether nothing is left of a process: one that was killed holds its ports until the last of its
 * threads (`l`) is gone.
 */
function hasEnded(daemon: Daemon): boolean {
  return !isRunning(daemon) && !/^Z.*l/.test(look(daemon.pid).state);
}

interface ProcessState {
  /** As `ps` shows it: `Z` is gone, `T` is stopped; `l` has several threads. */
  readonly state: string;
  readonly command: string;
}

function look(pid: number): ProcessState {
  return process.platform === 'linux' ? lookAtFiles(pid) : lookWithPs(pid);
}

/**
 * Without another process: tests that keep many servers in view would wait for `ps` most of the
 * time.
 */
function lookAtFiles(pid: number): ProcessState {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may have blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const threads = Number(fields[17]);
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return { state: `${fields[0]}${threads > 1 ? 'l' : ''}`, command };
  } catch {
    return { state: '', command: '' };
  }
}

function lookWithPs(pid: number): ProcessState {
  try {
    const line = execFileSync('ps', ['-ww', '-o', 'stat=,args=', '-p', String(pid)], {
      encoding: 'utf8',
    });
    const [, state = '', command = ''] = /^(\S+)\s+(.*)/.exec(line) ?? [];
    return { state, command };
  } catch {
    return { state: '', command: '' }; // ps found no such process.
  }
}

/** Sends a signal, unless the process is gone. */
export function signalDaemon(daemon: Daemon, signal: NodeJS.Signals): void {
  if (isRunning(daemon)) process.kill(daemon.pid, signal);
}

/** Stops a process, by force if asking does not help, and waits until it is gone. */
export async function stopDaemon(daemon: Daemon): Promise<void> {
  signalDaemon(daemon, 'SIGCONT');
  signalDaemon(daemon, 'SIGTERM');
  if (await waitUntil(() => hasEnded(daemon), STOP_MS)) return;
  await killDaemon(daemon);
}

/** Kills a process that has nothing to say at its end, and waits until it is gone. */
export async function killDaemon(daemon: Daemon): Promise<void> {
  signalDaemon(daemon, 'SIGKILL');
  if (!(await waitUntil(() => hasEnded(daemon), STOP_MS)))
    throw new Error(`process ${daemon.pid} does not end`);
}

/** Asks again and again until `condition` holds; false if it does not in time. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  pollMs: number = POLL_MS,
): Promise<boolean> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(pollMs);
  }
  return true;
}
