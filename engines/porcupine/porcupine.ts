/** Porcupine, an independent checker of linearizability in Go: built once, asked by histories of queues. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EngineUnavailable } from '../engine.ts';
import { downloadsFolder } from '../folders.ts';

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
 * The checker's program: built from `main.go` once for each content of the sources.
 *
 * @throws EngineUnavailable where Go is missing, or cannot fetch the module
 */
export async function buildPorcupine(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(folder, file)));
  const program = join(downloadsFolder('porcupine'), `porcupine-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(program)) return program;
  try {
    await run('go', ['build', '-o', program, '.'], { cwd: folder });
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = isMissing ? 'there is no `go` on this machine: install Go 1.21 or later' : (error as Error).message;
    throw new EngineUnavailable(`porcupine cannot be built: ${reason}`, { cause: error });
  }
  return program;
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
