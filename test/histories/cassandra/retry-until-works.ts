/** What has to work in the end, on a machine that may have much else to do. */
import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 20;
const PAUSE_MS = 1_000;

/** Tries again and again; what fails for the last time fails. */
export async function patiently<T>(action: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
