/** A service whose module never gives its thread back. */
import { writeSync } from 'node:fs';

const STDOUT = 1;

// At once: what a thread prints otherwise goes by a thread that is not busy.
writeSync(STDOUT, 'computing\n');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

export { service } from './durable-service.ts';
