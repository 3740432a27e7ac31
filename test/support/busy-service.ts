/** A service whose module computes forever, so that its thread never becomes idle. */
import { writeSync } from 'node:fs';

const STDOUT = 1;

// Write to the file descriptor, because `process.stdout` of a worker thread prints through another
// thread.
writeSync(STDOUT, 'computing\n');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

export { service } from './durable-service.ts';
