/**
 * Child processes of a benchmark: servers and clients. Each reports by one message that it is
 * ready, and answers each order by one message.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts a script of TypeScript. @param flags of Node */
export function startChild(
  script: URL,
  args: readonly string[],
  flags: readonly string[] = [],
): ChildProcess {
  return fork(fileURLToPath(script), args, { execArgv: [...flags, '--import', 'tsx'] });
}

/** Resolves with the next message of the process. @throws Error if the process ends first */
export function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void =>
      reject(new Error(`a benchmark process ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

/** Sends an order, and resolves with the answer. */
export async function ask<T>(child: ChildProcess, order: object | string): Promise<T> {
  const answered = answer<T>(child);
  child.send(order);
  return answered;
}

/** Disconnects the process, and waits until it has ended. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  if (child.connected) child.disconnect();
  await exited;
}
