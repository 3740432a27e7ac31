/** A service whose thread does nothing any more soon after it has begun to serve. */
setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 2_000);

export { service } from './kept-service.ts';
