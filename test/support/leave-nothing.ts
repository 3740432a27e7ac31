/**
 * Test files share a process: what one has put in place of the world's own things goes when the file ends. Who has a time of
 * his own has modules of his own too: what they arm by it would never fire for those who come after, and they may have armed
 * by the world's time what he waits for.
 */
import { readFileSync } from 'node:fs';
import { afterAll, expect, vi } from 'vitest';

const { testPath } = expect.getState();
/** About a mutant a process is asked of one file alone, and whoever asks says which modules are loaded anew. */
const isShared = process.env['CORRECTABLES_MUTANT'] === undefined;
const hasOwnTime = isShared && testPath !== undefined && readFileSync(testPath, 'utf8').includes('useFakeTimers');
if (hasOwnTime) forgetModules();

const { setTimeout, setInterval, setImmediate, Date, performance } = globalThis;
const world = { setTimeout, setInterval, setImmediate, Date, performance };

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  if (hasOwnTime) forgetModules();
  // A spy on a fake puts that back, after the real one has come: for whoever comes next nothing would ever happen.
  const left = Object.entries(world).filter(([name, own]) => Reflect.get(globalThis, name) !== own);
  for (const [name, own] of left) Reflect.set(globalThis, name, own);
  if (left.length > 0)
    throw new Error(`not the world's own at the end of this file: ${left.map(([name]) => name).join(', ')}`);
});

/** Those that come next are loaded anew, with what all copies of the package in a process share: how late it is, too. */
function forgetModules(): void {
  vi.resetModules();
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    const name = Symbol.keyFor(symbol) ?? '';
    // Which mutant is on stays.
    if (name.startsWith('correctables.') && name !== 'correctables.mutant') Reflect.deleteProperty(globalThis, symbol);
  }
}
