/** A service whose thread does nothing any more soon after it has begun to serve. */
import { writeSync } from 'node:fs';

const STDOUT = 1;

setTimeout(() => {
  // At once: what a thread prints otherwise goes by a thread that is not stuck yet.
  writeSync(STDOUT, 'stuck\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}, 2_000);

export { service } from './durable-service.ts';
