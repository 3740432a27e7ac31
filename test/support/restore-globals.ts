/**
 * Test files share a process: what one has put in place of the world's own things goes when the
 * file ends.
 */
import { afterAll, vi } from 'vitest';

const { setTimeout, setInterval, setImmediate, Date, performance } = globalThis;
const world = { setTimeout, setInterval, setImmediate, Date, performance };

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  // Otherwise timers of the next file would never fire. A file with a time of its own has a process
  // of its own.
  const left = Object.entries(world).filter(([name, own]) => Reflect.get(globalThis, name) !== own);
  for (const [name, own] of left) Reflect.set(globalThis, name, own);
  if (left.length > 0)
    throw new Error(
      `not the world's own at the end of this file: ${left.map(([name]) => name).join(', ')}`,
    );
});
