/** Tiers that the test settles, and what is seen of an operation. */
import type { Correctable } from '../../../../src/correctable/correctable.ts';
import type { Levels } from '../../../../src/correctable/level-types.ts';

/** A promise that the test settles. */
export function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

export async function seen<T, L extends Levels, F extends string>(
  views: Correctable<T, L, F>,
): Promise<string[]> {
  const shown: string[] = [];
  for await (const { level, value, final } of views)
    shown.push(`${level}=${String(value)}${final ? '!' : ''}`);
  return shown;
}

/** A cache in memory. Its commands can be held, fail, or never be answered. */
export class SharedCache {
  readonly texts = new Map<string, string>();
  readonly commands: string[] = [];
  /** Runs before each command. Its error is the answer. */
  before: (command: string) => unknown = () => {};

  readonly functions = {
    get: (key: string) => this.#run(`get ${key}`, () => this.texts.get(key) ?? null),
    set: (key: string, text: string, ttlMs: number) =>
      this.#run(`set ${key} ${ttlMs}`, () => void this.texts.set(key, text)),
    delete: (key: string) => this.#run(`delete ${key}`, () => void this.texts.delete(key)),
  };

  async #run<T>(command: string, execute: () => T): Promise<T> {
    this.commands.push(command);
    await this.before(command);
    return execute();
  }
}

/** Lets the cache be filled, which no operation waits for. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
