/**
 * Processes that a benchmark measures, or measures from: each says by one message that it is ready, and answers each
 * order by one.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts a script of TypeScript. @param flags of Node */
export function startChild(script: URL, args: readonly string[], flags: readonly string[] = []): ChildProcess {
  return fork(fileURLToPath(script), args, { execArgv: [...flags, '--import', 'tsx'] });
}

/** Its next message. @throws Error where it ends before */
export function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a benchmark process ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

/** Its answer to an order. */
export async function ask<T>(child: ChildProcess, order: object | string): Promise<T> {
  const answered = answer<T>(child);
  child.send(order);
  return answered;
}

/** Lets it go, and waits until it is gone. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  if (child.connected) child.disconnect();
  await exited;
}
