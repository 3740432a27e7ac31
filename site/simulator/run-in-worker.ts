/** Asks a worker for a run. A worker runs one seed and ends, since no run can be interrupted. */
import type { RunRequest } from './examples.ts';
import type { WorkerReply } from './worker.ts';

export interface RunningSeed {
  readonly reply: Promise<WorkerReply>;
  stop(): void;
}

export function runInWorker(request: RunRequest): RunningSeed {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  const reply = new Promise<WorkerReply>((resolve) => {
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerReply>) => resolve(data));
    worker.addEventListener('error', (event: Event) => {
      const message = event instanceof ErrorEvent ? event.message : 'its code could not be loaded';
      resolve({ error: `the worker has failed: ${message}` });
    });
    worker.postMessage(request);
  });
  const stop = (): void => worker.terminate();
  void reply.then(stop);
  return { reply, stop };
}
