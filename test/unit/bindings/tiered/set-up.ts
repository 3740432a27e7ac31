/** Tiers that the test settles, and what is seen of an operation. */
import type { Correctable } from '../../../../src/correctable/correctable.ts';
import type { Levels } from '../../../../src/correctable/level-types.ts';

/** A promise that the test settles. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

export async function seen<T, L extends Levels, F extends string>(views: Correctable<T, L, F>): Promise<string[]> {
  const shown: string[] = [];
  for await (const { level, value, final } of views) shown.push(`${level}=${String(value)}${final ? '!' : ''}`);
  return shown;
}
