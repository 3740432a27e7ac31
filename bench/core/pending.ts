/**
 * Prints the number of bytes of one pending result. Run it in a separate process with
 * `--expose-gc`. Arguments: the name of the way, and how many.
 */
import * as ways from './contenders.ts';

const [name = '', count = '100000'] = process.argv.slice(2);
const makers: Readonly<Record<string, () => ways.Way>> = {
  promise: ways.promise,
  callbacks: ways.callbacks,
  awaited: ways.awaited,
  rxjs: ways.rxjs,
};
const make = makers[name];
if (make === undefined || globalThis.gc === undefined)
  throw new Error(`usage: --expose-gc pending.ts ${Object.keys(makers).join('|')} [count]`);

/**
 * The map in which a way keeps its results does not count. Its size is measured with the same keys,
 * and subtracted.
 */
const retained = new Map<number, object>();
const shared = {};
const way = make();
const bare = measure(() => {
  for (let id = 0; id < Number(count); id += 1) retained.set(id, shared);
});
retained.clear();
const full = measure(() => {
  for (let id = 0; id < Number(count); id += 1) way.start(id);
});
console.log(Math.round((full - bare) / Number(count)));

function measure(fill: () => void): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  fill();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed - before;
}
