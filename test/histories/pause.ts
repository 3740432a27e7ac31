/** A pause that ends early, without a word, when `signal` is aborted. */
import { setTimeout as sleep } from 'node:timers/promises';

export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}
