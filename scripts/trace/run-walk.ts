/** Runs a walk in a process of its own, and sends what was recorded of one warm operation. */
import { setTimeout as sleep } from 'node:timers/promises';
import { countSteps, startRecording, stopRecording } from './recorder.ts';
import type { StartWalk, Walk } from './walks/walk.ts';

/** Later runs take the same way: caches are filled, and connections are open. */
const WARM_RUNS = 50;

export async function runWalk(startWalk: StartWalk): Promise<void> {
  const walk = await startWalk();
  for (let count = 0; count < WARM_RUNS; count += 1) await runToEnd(walk);
  startRecording(walk.operation);
  await runToEnd(walk);
  const trace = stopRecording();
  await walk.close();
  process.send?.(trace, () => process.exit());
}

/** Includes what the operation has left to the end of its turn, or to other sites. */
async function runToEnd({ run, quietMs }: Walk): Promise<void> {
  await run();
  for (let turn = 0; turn < 3; turn += 1)
    await new Promise((resolve) => void setImmediate(resolve));
  if (quietMs === undefined) return;
  for (let before = -1; before < countSteps(); await sleep(quietMs)) before = countSteps();
}
