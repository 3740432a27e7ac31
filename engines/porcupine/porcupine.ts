/**
 * Porcupine, an independent checker of linearizability in Go: built once, asked by histories of
 * queues.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtGoProgram } from '../built-go-program.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('.', import.meta.url));

/** One operation on a queue. */
export interface QueueOperation {
  readonly client: number;
  readonly queue: string;
  readonly kind: 'enqueue' | 'dequeue' | 'peek';
  /** What was put or got; absent where the queue was empty. */
  readonly item?: string;
  readonly callMs: number;
  /** Absent where the outcome is not known. */
  readonly returnMs?: number;
}

/** What porcupine says; `unknown` when it could not decide in time. */
export type Verdict = 'linearizable' | 'not linearizable' | 'unknown';

/**
 * The checker's program.
 *
 * @throws EngineUnavailable where Go is missing, or cannot fetch the module
 */
export function buildPorcupine(): Promise<string> {
  return builtGoProgram({ name: 'porcupine', folder });
}

/** Whether a queue, in one copy, can have behaved like this. */
export async function checkQueues(
  program: string,
  operations: readonly QueueOperation[],
  timeoutMs = 60_000,
): Promise<Verdict> {
  const running = run(program, []);
  running.child.stdin?.end(JSON.stringify({ operations, timeoutMs }));
  return (JSON.parse((await running).stdout) as { readonly verdict: Verdict }).verdict;
}
